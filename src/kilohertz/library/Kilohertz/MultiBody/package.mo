within Kilohertz;
package MultiBody "Rigid bodies in space: joints, forces and sensors between frames"
  record Orientation "How a frame stands in the world, and how it turns"
    Real T[3,3] "Turns components in the world into components in the frame";
    Units.AngularVelocity w[3] "Angular velocity against the world, in components of the frame";

    function equalityConstraint "Zero where two frames stand alike"
      input Orientation R1;
      input Orientation R2;
      output Real residue[3];
    algorithm
      residue := {cross(R1.T[1, :], R1.T[2, :])*R2.T[2, :], -cross(R1.T[1, :], R1.T[2, :])*R2.T[1, :], R1.T[2, :]*R2.T[1, :]};
      annotation(Inline=true, Documentation(info="<html><p>Three of the nine products of axes of the two frames: to first order the small angles
        between them. They say that two frames stand alike where they are less than a right angle apart.</p></html>"));
    end equalityConstraint;
    annotation(Documentation(info="<html><p>Nine numbers for three angles: where frames form a loop, one equality of orientations is
      written as the three residues of <code>equalityConstraint</code>.</p></html>"));
  end Orientation;

  connector Frame "A place on a body: position, orientation, force and torque"
    Units.Length r_0[3] "Position in the world";
    Orientation R "Orientation";
    flow Units.Force f[3] "Force onto the component, in components of the frame";
    flow Units.Torque t[3] "Torque onto the component, in components of the frame";
    annotation(Icon(graphics={Rectangle(extent={{-50,100},{50,-100}}, lineColor={95,95,95}, fillColor={220,220,220}, fillPattern=FillPattern.Solid), Line(points={{-100,0},{100,0}}), Line(points={{0,-60},{0,60}})}),
      Documentation(info="<html><p>Frames that are connected stand at one place and alike; their forces and torques sum to zero.</p></html>"));
  end Frame;

  partial model TwoFrames "A component between two frames"
    Frame a "Left frame" annotation(Placement(transformation(extent={{-116,-16},{-84,16}})));
    Frame b "Right frame" annotation(Placement(transformation(extent={{84,-16},{116,16}})));
    annotation(Icon(graphics={Text(extent={{-150,165},{150,130}}, textString="%name", textColor={0,0,255})}));
  end TwoFrames;

  type Coordinates = enumeration(Quaternions "Four quaternions that are kept at length 1, and the angular velocity: no singular place, states that never change",
      UnitQuaternions "Three of four quaternions, chosen while it runs", Angles "Three angles: singular where the second is a right angle") "What describes an orientation";
  annotation(Documentation(info="<html><p>Frames have the variables, units and signs of those of the Modelica Standard Library: position in the world,
    matrix from the world to the frame, angular velocity, cut force and torque in components of the frame. Loops of joints need no special
    joint to be cut; those of <code>Joints.Loops</code> are solved in closed form.</p></html>"));
end MultiBody;
